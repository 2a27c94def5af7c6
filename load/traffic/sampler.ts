/** A uniform random sample of answers (reservoir sampling, algorithm R). */
import type {Random} from "../requests/random.ts";

export interface Sample {
  /** Body of the request. */
  readonly request: string;
  /** Body of the answer. */
  readonly answer: Uint8Array;
}

export class Sampler {
  readonly samples: Sample[] = [];
  private seen = 0;

  constructor(
    private readonly size: number,
    private readonly random: Random,
  ) {}

  offer(request: string, answer: Uint8Array): void {
    this.seen++;
    const place = this.samples.length < this.size ? this.samples.length : this.random.below(this.seen);
    if (place >= this.size) return;
    this.samples[place] = {request, answer: new Uint8Array(answer)};
  }
}
