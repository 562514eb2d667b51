alter table "{parent}" detach partition "{partition}" concurrently
