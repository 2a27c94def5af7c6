/** Version and folder of the geth that test/nodes/install.ts installs. */
import {homedir} from "node:os";
import {join} from "node:path";

export const GETH_VERSION = "v1.17.10";
export const GETH_FOLDER: string = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "proofd",
  `geth-${GETH_VERSION}`,
);
