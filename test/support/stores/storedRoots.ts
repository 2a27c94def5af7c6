/** The state roots of a store that no process has open. */
import {toHex} from "../../../storage/hex.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import "../processes/testProcess.ts";

/** By block, from block 0 on. */
export async function readStoredRoots(directory: string): Promise<string[]> {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    const latest = (await store.reader.latest()) ?? -1;
    return Array.from({length: latest + 1}, (_, block) => toHex(store.reader.blockOrThrow(block).stateRoot));
  } finally {
    await store.close();
  }
}
