# Debian's PostgreSQL 15 as an image that takes the settings of the official one, which no registry gives us here.
FROM localhost/horae-test-root:postgresql
COPY --chmod=755 postgresql.sh /usr/local/bin/docker-entrypoint.sh
RUN mkdir -p /var/lib/postgresql/data && chown postgres:postgres /var/lib/postgresql/data
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
