/** Parses and validates geth's genesis file. */

import type {AccountChange, SlotDifference} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {ForkSchedule} from "./forkSchedule.ts";
import {
  encodeExactJson,
  invalidGenesis,
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

export type Genesis = Readonly<ReturnType<GenesisFile["parse"]>>;

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

/** Takes the values of the file, as JSON, then parses it. Methods throw SyntaxError, ExecutionError GENESIS_INVALID. */
export class GenesisFile {
  private readonly accounts = new AccountDifferences();
  /** With an empty alloc. */
  private readonly fields = new Map<string, unknown>();

  field(name: string, json: Buffer): void {
    this.fields.set(name, parseExactJson(json.toString()));
  }

  /** Of the alloc. */
  startEntries(): void {
    if (this.fields.has("alloc")) throw invalidGenesis("alloc", "is there twice");
    this.fields.set("alloc", {});
  }

  /** An account of the alloc. */
  entry(name: Buffer, json: Buffer): void {
    const field = `alloc.${name}`;
    const address = parseAddress(name.toString(), field);
    this.accounts.add({address, change: parseAccount(parseExactJson(json.toString()), field)});
  }

  end(): void {}

  /**
   * @param isExecuted - false: allows forks and rules that are not supported
   * @param chainId - allows a file without `config` if nothing is executed: most of the OP stack's registry have none
   * @throws ExecutionError GENESIS_INVALID
   */
  parse(isExecuted = true, chainId?: bigint) {
    const file = readOnlyMembers(Object.fromEntries(this.fields), "", FILE_NAMES);
    for (const field of ["alloc", "gasLimit", "difficulty"])
      if (file[field] === undefined) throw invalidGenesis(field, "is missing");
    const {config: given} = file;
    if (given === undefined && (isExecuted || chainId === undefined))
      throw invalidGenesis("config", isExecuted ? "is missing" : "is missing: name the chain by --chain-id");
    const config = given === undefined ? {chainId: String(chainId)} : parseObject(given, "config");
    const quantity = (field: string, bits: number): bigint => parseQuantity(file[field] ?? 0, field, bits);
    const bytes = (field: string, length: number): Uint8Array =>
      file[field] === undefined ? new Uint8Array(length) : parseFixedBytes(file[field], field, length);
    if (quantity("number", 64) !== 0n) throw invalidGenesis("number", "must be 0");
    const forks = new ForkSchedule(config, isExecuted);
    const timestamp = quantity("timestamp", 64);
    // geth would then write a header with empty fields ("for testing purposes"), which other programs cannot read.
    const hasCancun = given === undefined || forks.isActive("cancun", {number: 0, timestamp});
    if (file.excessBlobGas !== undefined && !hasCancun)
      throw invalidGenesis("excessBlobGas", "is set, but block 0 is before cancun");
    return {
      chainId: forks.chainId,
      /** The `config` object as JSON text. undefined: the file has none. */
      config: given === undefined ? undefined : encodeExactJson(config),
      forks,
      nonce: quantity("nonce", 64),
      timestamp,
      extraData: parseBytes(file.extraData ?? "", "extraData"),
      gasLimit: quantity("gasLimit", 64) || DEFAULT_GAS_LIMIT,
      gasUsed: quantity("gasUsed", 64),
      difficulty: quantity("difficulty", 256),
      mixHash: bytes("mixHash", 32),
      coinbase: bytes("coinbase", 20),
      parentHash: bytes("parentHash", 32),
      baseFeePerGas: file.baseFeePerGas === undefined ? undefined : quantity("baseFeePerGas", 256),
      excessBlobGas: quantity("excessBlobGas", 64),
      blobGasUsed: quantity("blobGasUsed", 64),
      /** The store refuses an address or a slot that comes twice. */
      accounts: this.accounts,
    };
  }
}

/** @returns without slots that are zero */
function parseAccount(value: unknown, field: string): AccountChange {
  const account = readOnlyMembers(parseObject(value, field), `${field}.`, ACCOUNT_NAMES);
  if (account.balance === undefined) throw invalidGenesis(`${field}.balance`, "is missing");
  const storage = Object.entries(parseObject(account.storage ?? {}, `${field}.storage`)).map(
    ([key, value]): SlotDifference => ({
      slot: parseWord(key, `${field}.storage.${key}`),
      value: parseWord(value, `${field}.storage.${key}`),
    }),
  );
  const code = parseBytes(account.code ?? "", `${field}.code`);
  return {
    nonce: parseQuantity(account.nonce ?? 0, `${field}.nonce`, 64) || undefined,
    balance: parseQuantity(account.balance, `${field}.balance`, 256),
    code: code.length > 0 ? code : undefined,
    storage: storage.filter(({value}) => value.some(byte => byte !== 0)),
  };
}
