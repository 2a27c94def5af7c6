/** The first blocks of the demo chain, which take a few seconds less than all of it. */
import {createReadStream} from "node:fs";
import {writeFile} from "node:fs/promises";
import {fileURLToPath} from "node:url";
import {RLP} from "@ethereumjs/rlp";
import {readRlpBlocks} from "../../../evm/execution/rlpBlocks.ts";

const BLOCKS = 3;
/** Position in a header. */
export const EXTRA_DATA = 12;

/**
 * Writes blocks 1 to 3.
 *
 * @param change - changes the last block's header fields
 * @returns the arguments that import them
 */
export async function writeShortChain(
  path: string,
  change: (fields: Uint8Array[]) => void = () => {},
): Promise<string[]> {
  const blocks: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(createReadStream(demo("chain.rlp"))))
    if (blocks.length < BLOCKS) blocks.push(bytes);
  const last = RLP.decode(blocks.pop() as Uint8Array) as Uint8Array[];
  change(last[0] as unknown as Uint8Array[]);
  await writeFile(path, Buffer.concat([...blocks, RLP.encode(last)]));
  return chainArgs(path);
}

export function chainArgs(path: string): string[] {
  return ["--genesis", demo("genesis.json"), "--blocks", path];
}

function demo(name: string): string {
  return fileURLToPath(import.meta.resolve(`#package/demo/${name}`));
}
