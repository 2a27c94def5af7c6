/** How the tests start each execution client: as an archive node, on loopback only, without peers. */
import type {ClientKind} from "./realNode.ts";

/** MiB. With geth's default of 1024 its write-ahead logs take 1.2 GB of disk from the start. */
const GETH_CACHE = ["--cache", "64"];

export const GETH: ClientKind = {
  program: "geth",
  init: ({folder, genesisPath, flags}) => {
    // The database is of one scheme from its beginning on.
    const scheme = flags.filter((flag, at) => [flag, flags[at - 1]].includes("--state.scheme"));
    return [...GETH_CACHE, "init", "--datadir", folder, ...scheme, genesisPath];
  },
  run: ({folder}, {rpc, engine}, secretPath) => [
    ...[...GETH_CACHE, "--datadir", folder, "--gcmode", "archive", "--syncmode", "full", "--nat", "none"],
    ...["--port", "0", "--nodiscover", "--maxpeers", "0", "--ipcdisable"],
    // One port for both.
    ...["--http", "--http.port", `${rpc}`, "--http.api", "eth,debug,net,admin,testing"],
    ...["--ws", "--ws.port", `${rpc}`, "--ws.api", "eth"],
    ...["--authrpc.port", `${engine}`, "--authrpc.jwtsecret", secretPath],
  ],
  listening: {
    rpc: /HTTP server started +endpoint=[^:]*:(\d+) auth=false/,
    engine: /HTTP server started +endpoint=[^:]*:(\d+) auth=true/,
  },
};

/** Of the OP stack. It has geth's flags and log. */
export const OP_GETH: ClientKind = {...GETH, program: "op-geth"};

const RETH_NAMESPACES = "eth,debug,net";
const RETH_LOG = ["--log.file.max-files", "0", "--color", "never"];

export const RETH: ClientKind = {
  program: "reth",
  init: ({folder, genesisPath}) => ["init", "--chain", genesisPath, "--datadir", folder, ...RETH_LOG],
  run: ({folder, genesisPath}, {rpc, engine}, secretPath) => [
    ...["node", "--chain", genesisPath, "--datadir", folder, ...RETH_LOG],
    ...["--addr", "127.0.0.1", "--port", "0", "--disable-discovery", "--nat", "none", "--ipcdisable"],
    // One port for both, which must have the same namespaces then.
    ...["--http", "--http.port", `${rpc}`, "--http.api", RETH_NAMESPACES],
    ...["--ws", "--ws.port", `${rpc}`, "--ws.api", RETH_NAMESPACES],
    ...["--authrpc.port", `${engine}`, "--authrpc.jwtsecret", secretPath],
  ],
  listening: {
    rpc: /RPC HTTP server started url=[^:]*:(\d+)/,
    engine: /RPC auth server started url=[^:]*:(\d+)/,
  },
};
