// Runs other people's programs: all of their input at once, all of their output at once, and never longer than allowed.

import { spawn } from 'node:child_process';

export interface CommandOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The program is killed after this long, and the call fails. */
  readonly timeoutMs?: number;
  /** Do not fail when the program exits with another status than 0. */
  readonly mayFail?: boolean;
}

export interface CommandResult {
  /** null when a signal ended the program. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const tailSize = 4000;

export function runCommand(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { timeoutMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    // A program that does not read its input to the end closes the pipe; its exit status says whether that was a fault.
    child.stdin.on('error', () => child.stdin.destroy());
    child.stdin.end(options.stdin ?? '');
    child.on('error', (cause) => reject(new Error(`cannot run ${program}`, { cause })));
    child.on('close', (exitCode, signal) => {
      const result = { exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
      if (signal === 'SIGKILL' || (exitCode !== 0 && options.mayFail !== true)) {
        const how = signal === null ? `exited with ${exitCode}` : `was ended by ${signal} (time limit ${timeoutMs} ms)`;
        const said = `${result.stdout.toString().slice(-tailSize)}\n${result.stderr.slice(-tailSize)}`;
        reject(new Error(`${program} ${args.join(' ').slice(0, 500)} ${how}:\n${said}`));
      } else {
        resolve(result);
      }
    });
  });
}
