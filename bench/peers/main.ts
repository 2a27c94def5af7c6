/** `npm run bench:peers`. Loads the measuring code only if the flags are valid. */
import {runProgram, writeCommand} from "../program/benchProgram.ts";
import {PEER_FLAGS} from "./peerFlags.ts";

await runProgram(
  "npm run bench:peers --",
  "Compares proofd, anvil and geth: sends each the same requests, in alternating rounds; prints a table.",
  PEER_FLAGS,
  async (flags, command) => {
    const {comparePeers} = await import("./peersRun.ts");
    await comparePeers(flags, writeCommand(command));
  },
);
