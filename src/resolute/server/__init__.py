"""The FastAPI application that joins everything."""
