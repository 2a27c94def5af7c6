/** `npm run bench:peers`. What it measures with is loaded when its flags are right. */
import {runProgram, writeCommand} from "../program/benchProgram.ts";
import {createPeersProgram, type PeerFlags} from "./peerOptions.ts";

const program = createPeersProgram();
await runProgram<PeerFlags>(program, async flags => {
  const {comparePeers} = await import("./peersRun.ts");
  await comparePeers(flags, writeCommand(program));
});
