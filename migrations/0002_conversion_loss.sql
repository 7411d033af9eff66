-- What a conversion between dialects could not carry over; on a request's last row, where there was a loss.
ALTER TABLE usage ADD COLUMN conversion_loss TEXT;

UPDATE settings SET schema_version = 2;
