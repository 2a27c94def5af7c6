/**
 * A chain that exists twice: in anvil, which makes its blocks, and in our stores, which import them as differences.
 *
 *   block 0     accounts and contracts (gasAccounts.ts)
 *   1 to LAST   empty, made by anvil: number, time, hash, prevRandao, beneficiary are the same on both sides
 */
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {encodeHex, quantity} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../demo/abi.ts";
import type {DifferenceLine} from "../../../support/chains/differenceLine.ts";
import {SharedEstimates} from "../../../support/estimates/sharedEstimates.ts";
import {Anvil} from "../../../support/processes/anvil.ts";
import {importLines} from "../../../support/stores/importedStore.ts";
import {createAccounts, type GasContracts, readContracts} from "./gasAccounts.ts";

export const CHAIN_ID = 424_243n;
export const LAST_BLOCK = 3;
export const BLOCK_GAS_LIMIT = 30_000_000n;
/** The beneficiary of every block. It has no account. */
export const BENEFICIARY = "0xc0ffee0000000000000000000000000000000001";

function createConfig(): object {
  const byNumber =
    "homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london";
  return {
    chainId: Number(CHAIN_ID),
    ...Object.fromEntries(byNumber.split(" ").map(name => [`${name}Block`, 0])),
    terminalTotalDifficulty: 0,
    ...Object.fromEntries(["shanghai", "cancun", "prague", "osaka"].map(name => [`${name}Time`, 0])),
  };
}

/** The fields of anvil's block that are used here. */
interface AnvilBlock {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly gasLimit: string;
  readonly baseFeePerGas: string;
  readonly miner: string;
  readonly mixHash: string;
}

export interface GasChain {
  readonly anvil: Anvil;
  readonly contracts: GasContracts;
  /** On the chain's store. */
  readonly estimates: SharedEstimates;
}

/**
 * Makes both sides of the chain. The caller stops the anvil and closes the estimates.
 *
 * @param folder - an empty one, for the genesis and the store
 * @returns the chain, or a text that says why there is no anvil
 */
export async function createGasChain(folder: string): Promise<GasChain | string> {
  const contracts = readContracts();
  const accounts = createAccounts(contracts);
  const config = createConfig();
  const genesis = {
    config,
    nonce: "0x0",
    timestamp: "0x67748580",
    extraData: "0x",
    gasLimit: quantity(BLOCK_GAS_LIMIT),
    difficulty: "0x0",
    mixHash: encodeHex(word(0n)),
    coinbase: BENEFICIARY,
    baseFeePerGas: "0x7",
    alloc: accounts,
  };
  await writeFile(genesisPath(folder), JSON.stringify(genesis));
  const anvil = await startGasAnvil(folder);
  if (typeof anvil === "string") return anvil;
  try {
    const lines: DifferenceLine[] = [];
    for (let number = 0; number <= LAST_BLOCK; number++) {
      const block = await anvil.request<AnvilBlock>("eth_getBlockByNumber", quantity(BigInt(number)), false);
      const {hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash} = block;
      lines.push({
        number: block.number,
        ...{hash, parentHash, timestamp, gasLimit, baseFeePerGas, miner, mixHash},
        ...(number === 0 && {chainId: quantity(CHAIN_ID), config}),
        accounts: number === 0 ? accounts : {},
      });
    }
    const directory = join(folder, "db");
    await importLines(directory, lines, {finalized: "last"});
    return {anvil, contracts, estimates: await SharedEstimates.open(directory)};
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

/** @param folder - that of the chain */
async function startGasAnvil(folder: string): Promise<Anvil | string> {
  // On our side code reads a base fee of 7 wei. Blocks are made only on request.
  const flags = "--hardfork osaka --accounts 0 --auto-impersonate --no-mining --block-base-fee-per-gas 7";
  const anvil = await Anvil.start(["--init", genesisPath(folder), ...flags.split(" ")]);
  if (typeof anvil === "string") return anvil;
  try {
    for (let number = 1; number <= LAST_BLOCK; number++) await anvil.request("evm_mine");
    return anvil;
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function genesisPath(folder: string): string {
  return join(folder, "genesis.json");
}
