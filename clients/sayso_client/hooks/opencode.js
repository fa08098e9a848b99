// Every tool call of OpenCode waits here for Sayso. Written by `sayso-hooks install opencode`; taken out by `remove`.
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

export const Gate = async (ctx) => {
  // The calls that were approved and haven't ended, each with what was approved.
  const approved = new Map()
  const name = (session, call) => JSON.stringify([session, call])

  return {
    "tool.execute.before": async (input, output) => {
      const { tool, sessionID, callID } = input
      const args = JSON.stringify(output.args)
      const event = { tool, sessionID, callID, args: JSON.parse(args), directory: ctx.directory }
      const answer = await ask(LINE, JSON.stringify(event), LIMIT_MS)
      if (answer?.decision !== "allow") throw new Error(answer?.reason || NO_ANSWER)
      if (JSON.stringify(output.args) !== args) throw new Error(NO_ANSWER)
      approved.set(name(sessionID, callID), event.args)
    },
    "tool.execute.after": async (input) => {
      approved.delete(name(input.sessionID, input.callID))
    },
    // `permission` says ask, so that nothing runs where this file isn't loaded. What was approved here is answered.
    event: async ({ event }) => {
      if (event.type !== "permission.asked") return
      const { id, sessionID, metadata, tool } = event.properties
      const args = approved.get(name(sessionID, tool?.callID))
      if (!args || (metadata?.command !== undefined && metadata.command !== args.command)) return
      const path = { id: sessionID, permissionID: id }
      await ctx.client.postSessionIdPermissionsPermissionId({ path, body: { response: "once" } })
    },
  }
}
