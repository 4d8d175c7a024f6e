"""From a user's request to parts that fit together. In this order:

- `kinds` of parts, and `catalogue`: what all plugins offer of each kind;
- `settings`: typed configurations from what a user wrote;
- `planfile` and `building`: a plan from a file and from a command line, and `variants`:
  one for each of several agents;
- `names`: models that configurations name, and `objects`: parts of the caller's own;
- `resolve`: a plan with all its parts, and `check`: whether they fit.

`provenance` says what made a run, and `secrets` keeps keys out of its record.
"""
