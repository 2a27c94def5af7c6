/** BLOCKHASH of a block that the store should have. */
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {CallFailure} from "../../messages/failure.ts";

/** @throws CallFailure NOT_AVAILABLE for a block before the store's first one; StoreError */
export function readBlockHash(store: StateReader, number: number): Uint8Array {
  const hash = store.readBlockHash(number);
  if (hash !== undefined) return hash;
  const first = store.readChain()?.first?.number ?? 0;
  // Of later blocks, a rollback has removed one: the error says which.
  if (number >= first) return store.blockOrThrow(number).header.hash;
  const detail = `the call reads the hash of block ${number}, which is not in the store: it begins with block ${first}`;
  throw new CallFailure({failure: "NOT_AVAILABLE", detail});
}
