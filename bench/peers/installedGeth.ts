/** Where test/nodes/install.ts puts the geth that the tests and benches were made with. */
import {homedir} from "node:os";
import {join} from "node:path";

export const GETH_VERSION = "v1.17.10";
export const GETH_FOLDER: string = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "proofd",
  `geth-${GETH_VERSION}`,
);
