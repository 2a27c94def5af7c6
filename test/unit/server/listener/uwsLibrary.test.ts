/** Which binaries of uWebSockets.js are loaded: those of the table, and of no other bytes. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {copyFile, mkdir, readdir, readFile, writeFile} from "node:fs/promises";
import {basename, join} from "node:path";
import {test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";
import {brotliCompressSync, constants} from "node:zlib";
import {UWS_BINARIES, type UwsBinary} from "../../../../server/listener/uwsBinaries.ts";
import {WorkFolder} from "../../../support/chains/serviceChain.ts";
import {runChild} from "../../../support/processes/childProcesses.ts";
import {findProgram} from "../../../support/processes/foundProgram.ts";
import {notRun} from "../../../support/processes/notRun.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const LOADER = join(ROOT, "dist/server/listener");
/** Tables, and what the loader says of them. `own` is the binary in own.br, after another one of a byte. */
const TABLES: readonly (readonly [table: string, said: RegExp])[] = [
  ["[{...own, fits: no, bytes: 1}, own]", /^function$/],
  ["[{...own, fits: no}]", /^Error it has no binary for Node v/],
  ["[{...own, bytes: 1}, own]", /^BinaryChanged /],
  ["[{...own, pack: none, source: none}, {...own, pack: none, source: 'other'}]", /^Error ENOENT.*none'$/],
];
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

test("the comparison with the library's repository names the tags that have a binary, and fails for one that no tag has", async t => {
  if (findProgram("git") === undefined) return notRun(t, "git is not installed");
  const [there, missing] = UWS_BINARIES.slice(3) as [UwsBinary, UwsBinary];
  const folder = new WorkFolder();
  // It stands for the repository. Nothing is compressed: that takes longer than all else.
  const git = async (...args: readonly string[]): Promise<void> => {
    const settings = ["user.name=t", "user.email=t@t", "core.compression=0"];
    const {code, stderr} = await runChild("git", [...settings.flatMap(one => ["-c", one]), ...args], {
      cwd: folder.path,
    });
    assert.equal(code, 0, stderr);
  };
  await git("init", "-q");
  await git("config", "uploadpack.allowFilter", "true");
  const place = (binary: UwsBinary): string => folder.file(basename(binary.source));
  await copyFile(join(ROOT, "node_modules", there.source), place(there));
  await writeFile(place(missing), "another one");
  await git("add", ".");
  await git("commit", "-qm", "one");
  for (const tag of ["v20.1.0", "v20.2.0", "other"]) await git("tag", tag);
  const compare = join(ROOT, ".ci/uws-upstream");
  const {code, stdout, stderr} = await runChild(compare, [pathToFileURL(folder.path).href]);
  assert.equal(code, 1, stderr);
  assert.equal(stdout, `same as in v20.1.0 v20.2.0: ${there.source}\n`);
  const absent = UWS_BINARIES.filter(binary => binary !== there);
  for (const {source, sha256} of absent)
    assert.match(stderr, new RegExp(`^in no tag of \\S+: ${source}, SHA-256 ${sha256}$`, "m"));
});

/** Of this Node. The last one needs the oldest glibc. */
const own = UWS_BINARIES.findLast(binary => binary.fits(process));

test("a binary of other bytes is not loaded, whatever else there is", {
  skip: own?.release === "20.0.8" ? false : "no binary for this Node and any glibc",
}, async () => {
  const {name, pack} = own ?? assert.fail();
  const folder = new WorkFolder();
  const files = await readdir(LOADER);
  for (const file of files.filter(file => /^uws(Library|Binaries)\.js$/.test(file)))
    await copyFile(join(LOADER, file), folder.file(file));
  await writeFile(folder.file("package.json"), '{"type": "module"}');
  const loader = pathToFileURL(folder.file("uwsLibrary.js")).href;
  const load = async (env: Readonly<Record<string, string>> = {}) => {
    const args = ["--input-type=module", "-e", PROGRAM, loader];
    const {code, stdout, stderr} = await runChild(process.execPath, args, {env: {...process.env, ...env}});
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
  const whole = Buffer.concat([Buffer.of(1), await readFile(join(ROOT, "node_modules", own?.source ?? ""))]);
  await writeFile(folder.file("own.br"), brotliCompressSync(whole, FASTEST));
  await copyFile(folder.file("uwsBinaries.js"), folder.file("table.js"));
  const temporary = folder.file("temporary");
  await mkdir(temporary);
  for (const [table, said] of TABLES) {
    const made = `import {UWS_BINARIES as all} from "./table.js";
const {bytes, sha256, source} = all.findLast(binary => binary.fits(process));
const [no, none] = [() => false, "none"];
const own = {bytes, sha256, source, name: none, pack: "own.br", fits: () => true};
export const UWS_BINARIES = ${table};
`;
    await writeFile(folder.file("uwsBinaries.js"), made);
    assert.match(await load({TMPDIR: temporary}), said, table);
    assert.deepEqual(await readdir(temporary), [], table);
  }
});
