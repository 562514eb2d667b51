"""What is said at the doors. Field names are the domain's; what is not a field is refused."""
