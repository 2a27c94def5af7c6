/** A genesis file as text. The import reads it as a stream (workers/import/genesisFile.ts). */
import {type Genesis, GenesisFile} from "../../../evm/execution/genesis.ts";
import {LineScanner} from "../../../nodes/files/lineScanner.ts";

/** @throws ExecutionError GENESIS_INVALID; SourceError and SyntaxError if it is not JSON */
export function parseGenesis(text: string, isExecuted?: boolean, chainId?: bigint): Genesis {
  const file = new GenesisFile();
  const scanner = new LineScanner(/^alloc$/i, text.length, file, true);
  scanner.push(Buffer.from(text));
  scanner.finish();
  return file.parse(isExecuted, chainId);
}

export interface GenesisAccount {
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  readonly storage: readonly {readonly slot: Uint8Array; readonly value: Uint8Array}[];
}

export function listAccounts({accounts}: Genesis): GenesisAccount[] {
  return Array.from({length: accounts.count}, (_, position) => {
    const {address, change} = accounts.at(position);
    const {nonce = 0n, balance = 0n, code = new Uint8Array(0), storage = []} = change ?? {};
    return {address, nonce, balance, code, storage};
  });
}
