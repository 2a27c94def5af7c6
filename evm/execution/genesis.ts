/** Parses and validates geth's genesis file. */

import type {SlotDifference} from "../../storage/block/accountDifference.ts";
import {toHex} from "../../storage/hex.ts";
import {ExecutionError} from "./executionError.ts";
import {ForkSchedule} from "./forkSchedule.ts";
import {
  encodeExactJson,
  invalidGenesis,
  type JsonObject,
  listNames,
  parseAddress,
  parseBytes,
  parseExactJson,
  parseFixedBytes,
  parseObject,
  parseQuantity,
  parseWord,
  readOnlyMembers,
} from "./gethJson.ts";

interface GenesisAccount {
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  /** Each slot once, none zero. */
  readonly storage: readonly SlotDifference[];
}

export interface Genesis {
  readonly chainId: bigint;
  /** The `config` object as JSON text. undefined: the file has none. */
  readonly config: string | undefined;
  readonly forks: ForkSchedule;
  readonly nonce: bigint;
  readonly timestamp: bigint;
  readonly extraData: Uint8Array;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly difficulty: bigint;
  readonly mixHash: Uint8Array;
  readonly coinbase: Uint8Array;
  readonly parentHash: Uint8Array;
  readonly baseFeePerGas: bigint | undefined;
  readonly excessBlobGas: bigint;
  readonly blobGasUsed: bigint;
  /** Each address once. */
  readonly accounts: readonly GenesisAccount[];
}

/** Fields of the file. slotNumber belongs to amsterdam, which is not supported. */
const FILE_NAMES = listNames(
  (
    "config nonce timestamp extraData gasLimit difficulty mixHash coinbase alloc number gasUsed parentHash " +
    "baseFeePerGas excessBlobGas blobGasUsed slotNumber comment"
  ).split(" "),
);
/** Fields of an account. geth and Besu ignore the last three, which development chains use. */
const ACCOUNT_NAMES = listNames("balance nonce code storage secretKey privateKey comment".split(" "));

/** geth replaces 0 by this. */
const DEFAULT_GAS_LIMIT = 4_712_388n;

/**
 * @param isExecuted - false: allows forks and rules that are not supported
 * @param chainId - allows a file without `config` if nothing is executed: most of the OP stack's registry have none
 * @throws ExecutionError GENESIS_INVALID
 */
export function parseGenesis(text: string, isExecuted = true, chainId?: bigint): Genesis {
  const file = readOnlyMembers(parseObject(parseJson(text), "the file"), "", FILE_NAMES);
  for (const field of ["alloc", "gasLimit", "difficulty"])
    if (file[field] === undefined) throw invalidGenesis(field, "is missing");
  const {config: given} = file;
  if (given === undefined && (isExecuted || chainId === undefined))
    throw invalidGenesis("config", isExecuted ? "is missing" : "is missing: name the chain by --chain-id");
  const config = given === undefined ? {chainId: String(chainId)} : parseObject(given, "config");
  const quantity = (field: string, bits: number): bigint => parseQuantity(file[field] ?? 0, field, bits);
  const hash = (field: string): Uint8Array =>
    file[field] === undefined ? new Uint8Array(32) : parseFixedBytes(file[field], field, 32);
  if (quantity("number", 64) !== 0n) throw invalidGenesis("number", "must be 0");
  const forks = new ForkSchedule(config, isExecuted);
  const timestamp = quantity("timestamp", 64);
  // geth would then write a header with empty fields ("for testing purposes"), which other programs cannot read.
  const hasCancun = given === undefined || forks.isActive("cancun", {number: 0, timestamp});
  if (file.excessBlobGas !== undefined && !hasCancun)
    throw invalidGenesis("excessBlobGas", "is set, but block 0 is before cancun");
  return {
    chainId: forks.chainId,
    config: given === undefined ? undefined : encodeExactJson(config),
    forks,
    nonce: quantity("nonce", 64),
    timestamp,
    extraData: parseBytes(file.extraData ?? "", "extraData"),
    gasLimit: quantity("gasLimit", 64) || DEFAULT_GAS_LIMIT,
    gasUsed: quantity("gasUsed", 64),
    difficulty: quantity("difficulty", 256),
    mixHash: hash("mixHash"),
    coinbase:
      file.coinbase === undefined ? new Uint8Array(20) : parseFixedBytes(file.coinbase, "coinbase", 20),
    parentHash: hash("parentHash"),
    baseFeePerGas: file.baseFeePerGas === undefined ? undefined : quantity("baseFeePerGas", 256),
    excessBlobGas: quantity("excessBlobGas", 64),
    blobGasUsed: quantity("blobGasUsed", 64),
    accounts: parseAlloc(parseObject(file.alloc, "alloc")),
  };
}

function parseJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new ExecutionError(
      "GENESIS_INVALID",
      `genesis: the file is not JSON: ${(error as Error).message}`,
      {cause: error},
    );
  }
}

function parseAlloc(alloc: JsonObject): GenesisAccount[] {
  const seen = new Set<string>();
  const accounts: GenesisAccount[] = [];
  for (const [key, value] of Object.entries(alloc)) {
    const field = `alloc.${key}`;
    const address = parseAddress(key, field);
    const name = toHex(address);
    if (seen.has(name)) throw invalidGenesis(field, "is there twice");
    seen.add(name);
    accounts.push(parseAccount(address, parseObject(value, field), field));
  }
  return accounts;
}

function parseAccount(address: Uint8Array, value: JsonObject, field: string): GenesisAccount {
  const account = readOnlyMembers(value, `${field}.`, ACCOUNT_NAMES);
  if (account.balance === undefined) throw invalidGenesis(`${field}.balance`, "is missing");
  const slots = new Map<string, SlotDifference>();
  for (const [key, value] of Object.entries(parseObject(account.storage ?? {}, `${field}.storage`))) {
    const slot = parseWord(key, `${field}.storage.${key}`);
    const name = toHex(slot);
    if (slots.has(name)) throw invalidGenesis(`${field}.storage.${key}`, "is there twice");
    slots.set(name, {slot, value: parseWord(value, `${field}.storage.${key}`)});
  }
  return {
    address,
    nonce: parseQuantity(account.nonce ?? 0, `${field}.nonce`, 64),
    balance: parseQuantity(account.balance, `${field}.balance`, 256),
    code: parseBytes(account.code ?? "", `${field}.code`),
    storage: [...slots.values()].filter(({value}) => value.some(byte => byte !== 0)),
  };
}
