# CPU: docker build -t bayes_rl .
# GPU: docker build -t bayes_rl:gpu --build-arg EXTRA=gpu .
ARG PYTHON=3.11
FROM python:${PYTHON}-slim-bookworm
ARG PYTHON
ARG EXTRA=
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libegl1 libgl1-mesa-dri \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /bayes_rl
COPY requirements requirements
RUN pip install --no-cache-dir --no-deps -r requirements/python${PYTHON}.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .
RUN if [ -n "${EXTRA}" ]; then pip install --no-cache-dir --no-build-isolation --editable ".[${EXTRA}]"; fi
ENTRYPOINT ["bayes-rl"]
CMD ["--help"]
