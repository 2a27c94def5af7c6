/** The client as users install it: packed, and unpacked into a folder. */
import assert from "node:assert/strict";
import {cp, mkdir, rename} from "node:fs/promises";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {runChild} from "./childProcesses.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));

/** Puts the package and its dependency into `node_modules` of a folder. */
export async function installPackedClient(folder: string): Promise<void> {
  // `npm test` has built it. The scripts of the package would build it again, beside the tests that use it.
  const pack = ["pack", "-w", "client", "--ignore-scripts", "--pack-destination", folder];
  const packed = await runChild("npm", pack, {cwd: ROOT});
  assert.equal(packed.code, 0, packed.stderr);
  const unpacked = await runChild("tar", ["-xzf", packed.stdout.trim()], {cwd: folder});
  assert.equal(unpacked.code, 0, unpacked.stderr);
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, "@noble"), {recursive: true});
  await rename(join(folder, "package"), join(modules, "proofd-client"));
  await cp(join(ROOT, "node_modules/@noble/hashes"), join(modules, "@noble/hashes"), {recursive: true});
}
