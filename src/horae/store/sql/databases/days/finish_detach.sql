alter table "{parent}" detach partition "{partition}" finalize
