"""Models of requests and responses. Field names are those of the domain; unknown fields are refused."""
