"""`faultlab report`: the report is made, and shown in a browser."""
