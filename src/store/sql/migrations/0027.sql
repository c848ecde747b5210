-- oldest program: 21
-- The trace of the request that caused an event, for the header traceparent of its deliveries.

ALTER TABLE event ADD COLUMN trace TEXT; -- trace ID and flags: "4bf92f3577b34da6a3ce929d0e0e4736-01"; NULL: none
