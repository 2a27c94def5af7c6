/** Starts anvil, if it is installed. It is an optional dependency of 60 MB, for Linux on x64 only. */
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {type ServerProcess, startServer} from "../served/serverProcess.ts";
import {BENCH_CHAIN} from "../stages/benchContracts.ts";
import type {GenesisAccount} from "./peerStore.ts";

const PACKAGE = "@foundry-rs/anvil-linux-amd64";
const GAS_LIMIT = "0x3938700";

/** @returns anvil's path, or undefined if it is not installed */
export function findAnvil(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), "bin", "anvil");
  } catch {
    return undefined;
  }
}

/** @param alloc - all its accounts */
export async function startAnvil(
  program: string,
  alloc: Readonly<Record<string, GenesisAccount>>,
): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-anvil-"));
  try {
    const genesis = join(folder, "genesis.json");
    const config = JSON.parse(BENCH_CHAIN.config as string) as unknown;
    writeFileSync(
      genesis,
      JSON.stringify({
        config,
        alloc,
        difficulty: "0x0",
        gasLimit: GAS_LIMIT,
        nonce: "0x0",
        timestamp: "0x6553f22d",
      }),
    );
    const anvil = await startServer({
      name: "anvil",
      command: program,
      args: ["--init", genesis, "--port", "0", "--accounts", "1", "--no-mining", "--hardfork", "osaka"],
      listening: /Listening on (127\.0\.0\.1:\d+)/,
    });
    // The header of block 0 has the root of a state without the accounts that anvil adds. So a block is mined.
    await anvil.call("evm_mine");
    return anvil;
  } finally {
    rmSync(folder, {recursive: true});
  }
}
