/**
 * Compresses the binaries of uWebSockets.js that the package of proofd has, as <name>.br next to their loader. Run by `npm pack`.
 *
 *   node uws.build.js [FOLDER] [QUALITY]    quality of Brotli, 1 to 11; 9 takes some 3 s a binary
 *
 * The library's own package has 24 binaries, 133 MB, of which a user needs one.
 */
import {existsSync, readdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {brotliCompressSync, constants} from "node:zlib";

/** Linux; Node 22, and on x64 also 20. Everywhere else, proofd serves by node:http. */
const PACKED = /^uws_linux_(x64_115|x64_127|arm64_127)\.node$/;
const BINARIES = join(import.meta.dirname, "node_modules/uWebSockets.js/dist/bin");

const [folder = join(import.meta.dirname, "dist/server/listener"), quality = "9"] = process.argv.slice(2);
const params = {[constants.BROTLI_PARAM_QUALITY]: Number(quality), [constants.BROTLI_PARAM_LGWIN]: 23};
for (const name of readdirSync(BINARIES).filter(name => PACKED.test(name))) {
  const packed = join(folder, `${name}.br`);
  if (existsSync(packed)) continue;
  process.stderr.write(`Compressing ${name}\n`);
  writeFileSync(packed, brotliCompressSync(readFileSync(join(BINARIES, name)), {params}));
}
