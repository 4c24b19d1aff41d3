// A WebSocket that reconnects by itself. Frames are passed on in batches, once per animation frame.

import { flushSync } from "svelte";
import { currentLogin, leave } from "./login/login";
import { trouble } from "./trouble.svelte";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3_000;
const PING_MS = 15_000;
const PONG_MS = 5_000;
/** Retrying would not help: not logged in, not allowed, not found, not understood. */
const FINAL_CODES = new Set([4401, 4403, 4404, 4422]);

export interface Listener<Frame> {
  /** The address to connect to, with the number to resume from; called for each connection. */
  path: () => string;
  onFrames: (frames: Frame[]) => void;
  onOpen?: () => void;
  onRefused?: (code: number) => void;
}

export class Line<Frame> {
  #socket: WebSocket | null = null;
  #frames: Frame[] = [];
  #pause = FIRST_PAUSE_MS;
  #timers = new Set<number>();
  #pong = 0;
  #isClosed = false;
  #isFlushing = false;
  #notBefore = 0;

  constructor(private readonly listener: Listener<Frame>) {
    this.#connect();
    addEventListener("online", this.#check);
    document.addEventListener("visibilitychange", this.#check);
  }

  close(): void {
    this.#isClosed = true;
    removeEventListener("online", this.#check);
    document.removeEventListener("visibilitychange", this.#check);
    for (const timer of this.#timers) clearTimeout(timer);
    trouble.end(this);
    const socket = this.#socket;
    // Closing a socket that is still connecting logs a warning in the console.
    if (socket?.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
    else socket?.close();
  }

  #connect(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const login = currentLogin();
    // A WebSocket can't set headers but can name protocols, so the secret travels as one.
    const protocols = login === null ? [] : ["navi", `navi.page.${login.secret}`];
    const socket = new WebSocket(`${scheme}://${location.host}${this.listener.path()}`, protocols);
    this.#socket = socket;
    socket.onopen = () => {
      this.#pause = FIRST_PAUSE_MS;
      trouble.end(this);
      this.listener.onOpen?.();
      this.#pingLater(socket);
    };
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data as string) as Frame & { type: string };
      if (frame.type === "pong") clearTimeout(this.#pong);
      else this.#receive(frame);
    };
    socket.onclose = (event) => {
      if (event.code === 4401 && !this.#isClosed) leave(login);
      this.#onClose(socket, event.code);
    };
  }

  #onClose(socket: WebSocket, code: number): void {
    if (this.#isClosed || socket !== this.#socket) return;
    this.#socket = null;
    clearTimeout(this.#pong);
    if (FINAL_CODES.has(code)) {
      this.listener.onRefused?.(code);
      return;
    }
    trouble.begin(this);
    this.#later(() => this.#reconnect(), this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  #reconnect(): void {
    if (!this.#isClosed && this.#socket === null) this.#connect();
  }

  /** The tab is visible again or the network is back: reconnect now, or test the open socket. */
  #check = (): void => {
    if (document.hidden || this.#isClosed) return;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#ping(this.#socket);
    else this.#reconnect();
  };

  #pingLater(socket: WebSocket): void {
    this.#later(() => {
      if (socket !== this.#socket) return;
      this.#ping(socket);
      this.#pingLater(socket);
    }, PING_MS);
  }

  /** After sleep, a socket may look open but be dead. */
  #ping(socket: WebSocket): void {
    socket.send('{"type": "ping"}');
    clearTimeout(this.#pong);
    this.#pong = this.#later(() => {
      if (socket !== this.#socket) return;
      socket.close();
      this.#onClose(socket, 1006);
    }, PONG_MS);
  }

  #receive(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // A hidden tab draws nothing but keeps reading.
    if (document.hidden) this.#later(this.#flush, 100);
    else this.#later(() => requestAnimationFrame(this.#flush), this.#notBefore - performance.now());
  }

  #flush = (): void => {
    this.#isFlushing = false;
    if (this.#isClosed) return;
    const frames = this.#frames;
    this.#frames = [];
    const start = performance.now();
    flushSync(() => this.listener.onFrames(frames));
    // However much there is to draw, leave most of the time for typing and scrolling.
    this.#notBefore = start + (performance.now() - start) * 4;
  };

  #later(work: () => void, milliseconds: number): number {
    const timer = window.setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, milliseconds);
    this.#timers.add(timer);
    return timer;
  }
}
