/** A process with a part that cannot stop, because its thread hangs in a system call. Run: node hungProcess.js PIPE */
import {pino} from "pino";
import {report} from "../../../cli/run.ts";
import {Parts} from "../../../server/lifecycle/parts.ts";
import {SupervisedThread} from "../../../workers/threads/supervisor.ts";
import {feelPulse, type Trouble, type TroubledJob} from "../threads/troubledWorker.ts";

const module = new URL("../threads/troubledWorker.js", import.meta.url);
const workerData: Trouble = {broken: "", pipe: process.argv[2] as string};
const pulse = () => feelPulse(workerData.pipe);
const thread = new SupervisedThread<TroubledJob, string>({kind: "troubled", module, workerData}, () => {});
const parts = new Parts(pino({enabled: false}));
await parts.start({name: "the thread", start: () => () => thread.destroy()});
await thread.run("hang", {limitMs: 20, pulse}).catch(() => {}); // it is lost now, and still there
process.exit(await parts.stop(100).then(() => 0, report));
