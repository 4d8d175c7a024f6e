"""The probe of rows and columns."""
