"""The error that a handler raises on purpose, with the status it wants."""


class PredictionException(Exception):
    def __init__(self, message: str, error_code: int = 500) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
