"""Every call of the API as steps, for `Client` and `AsyncClient`."""
