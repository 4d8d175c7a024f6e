"""The profile of an agent: what it does, believes, wants and judges, in one folder."""
