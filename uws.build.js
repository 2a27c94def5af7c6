/**
 * Compresses the binaries of uWebSockets.js that the package of proofd has, next to their loader. Run by `npm pack`.
 *
 *   node uws.build.js [FOLDER] [QUALITY]    quality of Brotli, 1 to 11; 9 takes some 7 s a file
 *
 * The library's packages have 44 binaries, 247 MB, of which a user needs one.
 */
import {existsSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {brotliCompressSync, constants} from "node:zlib";
import {UWS_BINARIES} from "./dist/server/listener/uwsBinaries.js";

const [folder = join(import.meta.dirname, "dist/server/listener"), quality = "9"] = process.argv.slice(2);
// A window of 16 MB holds two binaries.
const params = {[constants.BROTLI_PARAM_QUALITY]: Number(quality), [constants.BROTLI_PARAM_LGWIN]: 24};
for (const pack of new Set(UWS_BINARIES.map(({pack}) => pack))) {
  const path = join(folder, pack);
  if (existsSync(path)) continue;
  process.stderr.write(`Compressing ${pack}\n`);
  const binaries = UWS_BINARIES.filter(binary => binary.pack === pack);
  const parts = binaries.map(({source}) => readFileSync(join(import.meta.dirname, "node_modules", source)));
  writeFileSync(path, brotliCompressSync(Buffer.concat(parts), {params}));
}
