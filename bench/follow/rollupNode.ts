/** The layer-1 node of the bench: anvil with a contract that emits a rollup's events. */
import {startAnvil} from "../served/anvil.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

export const ROLLUP = `0x${"70".repeat(20)}`;
/** DataFinalizedV3(startBlockNumber, endBlockNumber, shnarf, parentStateRootHash, finalStateRootHash), the first three indexed. */
const TOPIC = "a0262dc79e4ccb71ceac8574ae906311ae338aa4a2044fd4ec4b99fad5ab60cb";
/** Emits the call data as a log: four words of topics, then two words of data. */
const EMIT = [
  "60406080600037", // CALLDATACOPY(0, 0x80, 0x40)
  "606035604035602035600035", // the topics, last one first
  "60406000a400", // LOG4(0, 0x40), STOP
].join("");
const FROM = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

export async function startRollupNode(): Promise<ServerProcess> {
  const server = await startAnvil("--accounts", "1");
  await server.call("anvil_setCode", [ROLLUP, `0x${EMIT}`]);
  return server;
}

/** Emits the event that finalizes blocks `start` to `end`, in a block of its own. */
export async function finalize(
  node: ServerProcess,
  start: number,
  end: number,
  parentRoot: string,
  root: string,
): Promise<void> {
  const words = [word(start), word(end), word(end), parentRoot.slice(2), root.slice(2)];
  await node.call("eth_sendTransaction", [{from: FROM, to: ROLLUP, data: `0x${TOPIC}${words.join("")}`}]);
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}
