"""Who may, and what is readable: roles, credentials, seals. It knows no table and no request."""
