/** Which binaries of uWebSockets.js are loaded: those of the table, and of no other bytes. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {copyFile, readdir, readFile, writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";
import {brotliCompressSync, constants} from "node:zlib";
import {UWS_BINARIES} from "../../../../server/listener/uwsBinaries.ts";
import {WorkFolder} from "../../../support/chains/serviceChain.ts";
import {runChild} from "../../../support/processes/childProcesses.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const LOADER = join(ROOT, "dist/server/listener");
const FASTEST = {params: {[constants.BROTLI_PARAM_QUALITY]: 0}};
/** Loads it and says what it got. */
const PROGRAM = `const {loadUws} = await import(process.argv[1]);
try {
  console.log(typeof loadUws().App);
} catch (error) {
  console.log(error.constructor.name, error.message);
}`;

test("the binaries of a clone are those of the table", async () => {
  for (const {name, source, bytes: size, sha256} of UWS_BINARIES) {
    const bytes = await readFile(join(ROOT, "node_modules", source));
    assert.equal(bytes.length, size, name);
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256, name);
  }
});

/** Of this Node. The last one needs the oldest glibc. */
const own = UWS_BINARIES.findLast(binary => binary.fits(process));

test("a binary of other bytes is not loaded, whatever else there is", {
  skip: own?.release === "20.0.8" ? false : "no binary for this Node and any glibc",
}, async () => {
  const {name, pack} = own ?? assert.fail();
  const folder = await WorkFolder.create();
  try {
    const files = await readdir(LOADER);
    for (const file of files.filter(file => /^uws(Library|Binaries)\.js$/.test(file)))
      await copyFile(join(LOADER, file), folder.file(file));
    await writeFile(folder.file("package.json"), '{"type": "module"}');
    const loader = pathToFileURL(folder.file("uwsLibrary.js")).href;
    const load = async () => {
      const args = ["--input-type=module", "-e", PROGRAM, loader];
      const {code, stdout, stderr} = await runChild(process.execPath, args);
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    const mates = UWS_BINARIES.filter(binary => binary.pack === pack);
    const parts = await Promise.all(mates.map(({source}) => readFile(join(ROOT, "node_modules", source))));
    const packed = brotliCompressSync(Buffer.concat(parts), FASTEST);
    await writeFile(folder.file(pack), packed);
    assert.equal(await load(), "function");
    await writeFile(folder.file(pack), packed.subarray(0, -1));
    assert.match(await load(), /^BinaryChanged \S+\.br was changed: /);
    // Names of sections, which nobody reads: it would load.
    const bytes = parts[mates.indexOf(own ?? assert.fail())] ?? assert.fail();
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(folder.file(pack), brotliCompressSync(Buffer.concat(parts), FASTEST));
    assert.match(await load(), /^BinaryChanged \S+\.br was changed: expected SHA-256 \w{64}, got \w{64}/);
    await writeFile(folder.file(name), bytes);
    assert.match(await load(), /^BinaryChanged \S+\.node was changed: expected SHA-256 /);
  } finally {
    await folder.remove();
  }
});
