/** fast-check arbitraries for requests of many accounts and slots of a random chain, with repeated entries and other spellings. */
import fc from "fast-check";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {RandomChain} from "../chains/randomBlocks.ts";

export function proofRequests(
  {addresses, slots}: RandomChain,
  maxEntries: number,
): fc.Arbitrary<readonly ProofRequest[]> {
  const entries = fc.record({
    address: fc.constantFrom(
      ...addresses,
      ...addresses.map(address => `0x${address.slice(2).toUpperCase()}`),
    ),
    storageKeys: fc.array(fc.constantFrom(...slots.map(slot => `0x${slot.toString(16)}`)), {maxLength: 5}),
  });
  return fc.array(entries, {minLength: 1, maxLength: maxEntries});
}
