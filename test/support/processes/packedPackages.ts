/** The packages as users install them: packed, and unpacked into the node_modules of an empty folder. */
import assert from "node:assert/strict";
import {cp, mkdir, readdir, readFile, rename, symlink} from "node:fs/promises";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {runChild} from "./childProcesses.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  /** A workspace: its folder is `resolved`. */
  readonly link?: boolean;
  readonly resolved?: string;
}

type Packages = Readonly<Record<string, LockedPackage>>;

/** Puts what `npm pack` packs of proofd-client (packages.test.ts) and its dependency, as copies, into `node_modules` of a folder. */
export async function installClient(folder: string): Promise<void> {
  const home = join(folder, "node_modules/proofd-client");
  for (const name of ["package.json", "dist"])
    await cp(join(ROOT, "client", name), join(home, name), {recursive: true});
  const hashes = "node_modules/@noble/hashes";
  await cp(join(ROOT, hashes), join(folder, hashes), {recursive: true});
}

/**
 * Packs all packages of this clone into a folder. Puts proofd and those that it depends on into its `node_modules`, and links to what npm would
 * install with them. Tests have no network, so it comes from the clone's node_modules, by the lock file.
 *
 * @returns the real folders of all of it
 */
export async function installPackedService(folder: string): Promise<string[]> {
  const which = ["--include-workspace-root", "-w", "client", "-w", "load", "-w", "contracts"];
  // `npm test` has built it. The scripts of the package would build it again, beside the tests that use it.
  const pack = ["pack", "--ignore-scripts", "--pack-destination", folder, ...which];
  const packed = await runChild("npm", pack, {cwd: ROOT});
  assert.equal(packed.code, 0, packed.stderr);
  const own = await unpackPackage("proofd", folder);
  // As `npm pack` does, but in less time.
  const compress = [join(ROOT, "uws.build.js"), join(own, "dist/server/listener"), "1"];
  const compressed = await runChild(process.execPath, compress);
  assert.equal(compressed.code, 0, compressed.stderr);
  const {packages} = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  const found = new Set<string>();
  findDependencies(packages, "", Object.keys(packages[""].dependencies), found);
  const places = [...found];
  const folders = [own];
  for (const place of places) {
    if (packages[place].link === true) {
      folders.push(await unpackPackage(place.replace("node_modules/", ""), folder));
      continue;
    }
    folders.push(join(ROOT, place));
    if (place.lastIndexOf("node_modules/") > 0) continue;
    await mkdir(dirname(join(folder, place)), {recursive: true});
    await symlink(join(ROOT, place), join(folder, place));
  }
  return folders;
}

/** @param folder - of the package that names them, in the lock file */
function findDependencies(
  packages: Packages,
  folder: string,
  names: readonly string[],
  found: Set<string>,
): void {
  for (const name of names) {
    const nested = `${folder}/node_modules/${name}`;
    const place = folder !== "" && nested in packages ? nested : `node_modules/${name}`;
    if (found.has(place)) continue;
    found.add(place);
    const {link, resolved = ""} = packages[place] ?? {};
    const home = link === true ? resolved : place;
    findDependencies(packages, home, Object.keys(packages[home]?.dependencies ?? {}), found);
  }
}

/** @param folder - in which the package is packed. @returns the package's folder */
export async function unpackPackage(name: string, folder: string): Promise<string> {
  const isPacked = new RegExp(`^${name}-[0-9.]+\\.tgz$`);
  const file = (await readdir(folder)).find(one => isPacked.test(one));
  const unpacked = await runChild("tar", ["-xzf", file ?? name], {cwd: folder});
  assert.equal(unpacked.code, 0, unpacked.stderr);
  const home = join(folder, "node_modules", name);
  await mkdir(dirname(home), {recursive: true});
  await rename(join(folder, "package"), home);
  return home;
}
