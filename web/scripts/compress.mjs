// Puts a brotli and a gzip form beside each file of the build that gets smaller by it, so that the server never compresses.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const built = new URL("../../src/resolute/server/static/", import.meta.url).pathname;
const text = /\.(css|html|js|json|svg)$/;
// Smaller ones fit into one packet as they are.
const leastBytes = 1000;

for (const name of readdirSync(built, { recursive: true })) {
  const path = `${built}${name}`;
  if (!text.test(path) || statSync(path).size < leastBytes) continue;
  const bytes = readFileSync(path);
  const brotli = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, brotli));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}
