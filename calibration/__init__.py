"""Where the shot goes: flight, aim and, later, fits from measured shots. SI units throughout."""
