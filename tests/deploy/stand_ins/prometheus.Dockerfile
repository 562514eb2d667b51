# Debian's Prometheus as an image that starts as the official one does, which no registry gives us here.
FROM localhost/horae-test-root:prometheus
RUN mkdir /prometheus && chown nobody:nogroup /prometheus
USER 65534:65534
ENTRYPOINT ["/usr/bin/prometheus"]
