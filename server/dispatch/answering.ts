/** Turns the answers of a task into pieces of its requests' responses, and counts the calls. */
import {answerStart, SEPARATOR} from "../../workers/messages/answers.ts";
import type {CallTally} from "../observe/callTally.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";
import {append, callsOf, type LanePlace, type Place} from "../request/requestCalls.ts";
import {Piece, type TaskAnswers, type TaskText} from "../request/taskText.ts";
import {createFailureError} from "../rpc/failure.ts";
import {encodeError, type RpcError} from "../rpc/rpcError.ts";
import type {PendingRequest} from "./pendingRequest.ts";
import type {Segment} from "./segment.ts";

export interface AnsweredTask {
  readonly answers: TaskAnswers;
  readonly text: TaskText;
}

export class Answering {
  constructor(
    private readonly tally: CallTally,
    private readonly trouble: TroubleLog,
  ) {}

  /** A segment's part of the response; a comma follows each object. @param base - its first call's index in the task */
  assemble(request: PendingRequest, segment: Segment, {answers, text}: AnsweredTask, base: number): Piece[] {
    const {calls, record} = request;
    const {ends, codes} = answers;
    const {ids, isBytes} = callsOf(calls, segment.lane);
    let pieces: Piece[] = [];
    let from = answerStart(ends, base);
    let to = from;
    let call = base;
    if (isBytes && (ends[base] as number) > from) request.reply.sendAsBytes();
    for (let at = segment.firstPlace; at < segment.endPlace; at++) {
      const place = calls.places[at] as Place;
      let ready: string;
      if (typeof place === "string") ready = place;
      else {
        const end = ends[call] as number;
        if (end > to) {
          to = end;
          const code = codes?.[call] ?? 0;
          call++;
          this.tally.add(place.name, code);
          if (code !== 0) record.noteCode(code);
          continue;
        }
        const idText = ids[segment.firstCall + call - base] as string;
        const failure = answers.failures.find(one => one.call === call);
        const error =
          createFailureError(failure, request.head, segment.whyMissing) ??
          this.trouble.reportFailure(failure, record.id);
        call++;
        ready = this.encodeError(request, place, idText, error);
      }
      if (to > from) pieces = append(pieces, text.cut(from, to));
      from = to;
      pieces = append(pieces, new Piece(Buffer.from(ready + SEPARATOR)));
    }
    return to > from ? append(pieces, text.cut(from, to)) : pieces;
  }

  /** Answers every call of the segment with the error. Default: an internal one, whose cause is in the log only. */
  assembleErrors(
    request: PendingRequest,
    segment: Segment,
    error = this.trouble.createInternalError(request.record.id),
  ): Piece[] {
    const {ids} = callsOf(request.calls, segment.lane);
    let text = "";
    let call = segment.firstCall;
    for (const place of request.calls.places.slice(segment.firstPlace, segment.endPlace)) {
      text +=
        typeof place === "string" ? place : this.encodeError(request, place, ids[call++] as string, error);
      text += SEPARATOR;
    }
    return [new Piece(Buffer.from(text))];
  }

  /** Encodes the one error of a request of which no call is answered, without a comma. */
  encodeRefusal(request: PendingRequest, error: RpcError): string {
    const {calls, isBatch} = request;
    const place = calls.places.find(one => typeof one !== "string") as LanePlace;
    const idText = isBatch ? "null" : (callsOf(calls, place.lane).ids[0] as string);
    return this.encodeError(request, place, idText, error);
  }

  private encodeError({record}: PendingRequest, {name}: LanePlace, idText: string, error: RpcError): string {
    this.tally.add(name, error.code);
    record.noteCode(error.code);
    return encodeError(idText, error);
  }
}
