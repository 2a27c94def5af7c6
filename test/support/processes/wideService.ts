/** A service whose limits let large batches in. Run: node wideService.js DIRECTORY */
import {OwnService} from "../http/ownService.ts";

const limits = {requestCost: 1e6, members: 1e6, responseBytes: 1e10, timeoutMs: 3_600_000};
const {url} = await OwnService.start({db: process.argv[2] as string, limits});
process.stdout.write(`${JSON.stringify({msg: "listening", url})}\n`);
