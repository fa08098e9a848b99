// Every tool call of this host waits here for Sayso. `sayso-hooks install` wrote this file, `sayso-hooks remove` deletes it.
import { spawn } from "node:child_process"

const LINE = "@LINE@"
const LIMIT_MS = @LIMIT@
const NO_ANSWER = "@NO_ANSWER@"

// Kills the shell's process group: a hook that goes on could take an approval for a call that is over. `timeout` makes a
// group of its own, and the hook below it ends by itself when nobody reads its answer any more.
const killed = (child) => {
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    child.kill("SIGKILL")
  }
}
const running = new Set()
process.once("exit", () => running.forEach(killed))

// Runs the command as a shell would, in a folder that no project chooses; resolves to its answer, or to null.
const ask = (command, event, limitMs, signal) =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", command], { cwd: "/", stdio: ["pipe", "pipe", "ignore"], detached: true })
    running.add(child)
    const stop = () => {
      killed(child)
      resolve(null)
    }
    const timer = setTimeout(stop, limitMs)
    signal?.addEventListener("abort", stop, { once: true })
    let said = ""
    child.stdout.on("data", (part) => (said += part))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(null))
    child.on("close", (status) => {
      clearTimeout(timer)
      running.delete(child)
      signal?.removeEventListener("abort", stop)
      try {
        resolve(status === 0 ? JSON.parse(said) : null)
      } catch {
        resolve(null)
      }
    })
    child.stdin.end(event)
  })
