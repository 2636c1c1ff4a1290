# Solum on Debian 12: docker build -t solum . && docker run --rm solum
FROM debian:12 AS build
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates g++ rustc-web cargo-web \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /solum
COPY . .
# Installs LLVM 22 from Debian as well.
RUN ./x install /opt/solum

FROM debian:12-slim
COPY --from=build /opt/solum /usr/local
RUN ldconfig && useradd --create-home --uid 1000 solum
USER 1000
WORKDIR /home/solum
CMD ["solum", "ls"]
