"""A recorded shot told again: the film in slow motion and the sheet, from one story."""
