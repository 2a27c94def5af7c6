/** Which commit is built: for build.js. */
import {execFileSync} from "node:child_process";
import {existsSync, readFileSync} from "node:fs";
import {join} from "node:path";

const SHORT_DIGITS = 8;

/** @returns the commit, with " (changed)" where files differ from it; null outside of a clone */
export function readCommit(root) {
  const git = (...args) =>
    execFileSync("git", args, {cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]});
  try {
    if (git("rev-parse", "--show-prefix").trim() !== "") return null;
    const changes = git("status", "--porcelain", "--untracked-files=no");
    return `${git("rev-parse", "--short", "HEAD").trim()}${changes === "" ? "" : " (changed)"}`;
  } catch {
    return readHead(join(root, ".git"));
  }
}

/**
 * Without git, as in the build of an image, which gets only the files that name the commit (deploy/Dockerfile.dockerignore). Changed
 * files are not noticed.
 */
function readHead(folder) {
  const read = name => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  const head = read("HEAD").trim();
  const branch = head.replace(/^ref: /, "");
  const packed = () =>
    read("packed-refs")
      .split("\n")
      .find(line => line.endsWith(` ${branch}`)) ?? "";
  const commit = branch === head ? head : read(branch) || packed();
  return /^[0-9a-f]{40}/.test(commit) ? commit.slice(0, SHORT_DIGITS) : null;
}
