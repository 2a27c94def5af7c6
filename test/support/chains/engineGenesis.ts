/** The genesis file of chains that EngineChain makes. */
import {readContract} from "../../../demo/artefact.ts";
import {toHex} from "../../../storage/hex.ts";
import {balanceSlot} from "../demo/demoAddresses.ts";
import {makeGenesisText} from "../demo/demoGenesis.ts";
import type {EngineFork} from "../nodes/engineApi.ts";
import {PEOPLE} from "./people.ts";
import {DEPLOYER} from "./stateTraffic.ts";

export const ENGINE_CHAIN_ID = 424_243;
export const BLOCK_SECONDS = 12;
/** Of block 0: 1 January 2025. */
export const GENESIS_SECONDS = 1_735_689_600;

/** The first block under each fork's rules. The chain begins under shanghai. */
export type ForkBlocks = Readonly<Record<Exclude<EngineFork, "paris" | "shanghai">, number>>;

/** The deterministic deployment proxy: makes contracts with CREATE2, with the first word of calldata as the salt. */
const DEPLOYER_CODE =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";

export const ENGINE_TOKEN = `0x${"70".repeat(20)}`;
/** How much of it each of PEOPLE has. */
export const TOKENS = 1000n;

/**
 * @param own - header fields of block 0 that are not as usual
 * @returns geth's genesis file: PEOPLE have ether and tokens, and there are the system contracts, the deployer, and `more`
 */
export function makeEngineGenesis(
  {cancun, prague, osaka}: ForkBlocks,
  more: object,
  own: Readonly<Record<string, string>> = {},
): string {
  const {config, alloc, ...fields} = JSON.parse(
    makeGenesisText(PEOPLE.map(text => Buffer.from(text.slice(2), "hex"))),
  );
  const timeOf = (block: number) => GENESIS_SECONDS + block * BLOCK_SECONDS;
  return JSON.stringify({
    ...fields,
    ...own,
    timestamp: `0x${GENESIS_SECONDS.toString(16)}`,
    config: {
      ...config,
      chainId: ENGINE_CHAIN_ID,
      ...{cancunTime: timeOf(cancun), pragueTime: timeOf(prague), osakaTime: timeOf(osaka)},
    },
    alloc: {...alloc, [DEPLOYER]: makeContract(DEPLOYER_CODE), [ENGINE_TOKEN]: makeToken(), ...more},
  });
}

function makeContract(code: string, storage: Readonly<Record<string, string>> = {}): object {
  return {balance: "0x0", nonce: "0x1", code, storage};
}

function makeToken(): object {
  const word = `0x${TOKENS.toString(16).padStart(64, "0")}`;
  const holders = PEOPLE.map(address => [toHex(balanceSlot(Buffer.from(address.slice(2), "hex"))), word]);
  return makeContract(`0x${readContract("DemoToken").deployedBytecode}`, Object.fromEntries(holders));
}
