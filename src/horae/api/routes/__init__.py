"""The routes, one module per resource. Each route names its action and calls the service."""
