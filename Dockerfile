# A static binary in an empty image, as a user without rights. docs/RUNNING.md says how it is run.
#
#   docker build -t decant --build-arg VERSION=v1.0.0 .
#   docker run -v decant:/data -p 127.0.0.1:4141:4141 -e DECANT_KEYS=alice:SECRET -e DECANT_PLAIN_HTTP=true decant
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o /out/decant ./cmd/decant
RUN mkdir -m 0700 /out/data

# docker build --target shell: the same on a small Debian with bubblewrap, which decant chat --workspace-shell needs.
FROM debian:stable-slim AS shell
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/decant /usr/local/bin/decant
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV DECANT_DB=/data/decant.db DECANT_LISTEN=0.0.0.0:4142
VOLUME /data
EXPOSE 4142
STOPSIGNAL SIGTERM
ENTRYPOINT ["decant"]
CMD ["chat", "--serve", "--workspaces", "/data/workspaces", "--workspace-shell"]

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/decant /decant
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
# There is no /tmp: what SQLite and Go put aside for a moment goes where the database is.
ENV DECANT_DB=/data/decant.db DECANT_LISTEN=0.0.0.0:4141 TMPDIR=/data SQLITE_TMPDIR=/data
VOLUME /data
EXPOSE 4141
STOPSIGNAL SIGTERM
ENTRYPOINT ["/decant"]
CMD ["serve"]
