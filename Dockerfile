# The server with Debian's Chromium and Tesseract. Build: docker build -t lectern .   Run: see compose.yaml
# With LibreOffice, for the old Office formats: docker build --build-arg LIBREOFFICE=1 -t lectern .
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY playground ./playground
COPY scripts ./scripts
COPY docs ./docs
COPY bench ./bench
COPY examples ./examples
COPY deploy ./deploy
COPY README.md ARCHITECTURE.md CONTRIBUTING.md ./
# The server can do without onnxruntime-node, so npm takes it for a package of the development and would remove it. Of its
# libraries, those for this kind of processor stay.
RUN npm run build \
  && mv node_modules/onnxruntime-node node_modules/onnxruntime-common /tmp/ \
  && npm prune --omit=dev \
  && mv /tmp/onnxruntime-node /tmp/onnxruntime-common node_modules/ \
  && find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 ! -path "*/linux/$(node -p process.arch)" -exec rm -r {} +

FROM node:24-bookworm-slim
ARG LIBREOFFICE
RUN apt-get update \
  && apt-get install -y --no-install-recommends chromium fonts-liberation fonts-noto-cjk tesseract-ocr tini \
    ${LIBREOFFICE:+libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui} \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/packages ./packages
COPY --from=build /app/dist ./dist
COPY assets ./assets
USER node
ENV NODE_ENV=production LECTERN_DATA_DIR=/data LECTERN_HOST=0.0.0.0
VOLUME /data
EXPOSE 3000 3001 3002 3003 3004 3006
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:3000/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# tini reaps what the browser leaves behind.
ENTRYPOINT ["tini", "--"]
# Node 24 would give the main thread a young generation of 128 MB; 32 MB is enough.
CMD ["node", "--max-semi-space-size=16", "dist/main.js", "serve"]
