import alertSettings from "./alertSettings";
import alerts from "./alerts";
import audit from "./audit";
import backfills from "./backfills";
import calendars from "./calendars";
import capacity from "./capacity";
import deadLetters from "./deadLetters";
import drills from "./drills";
import errors from "./errors";
import events from "./events";
import forecast from "./forecast";
import frame from "./frame";
import graphs from "./graphs";
import health from "./health";
import incidents from "./incidents";
import instances from "./instances";
import jobs from "./jobs";
import limits from "./limits";
import lists from "./lists";
import login from "./login";
import logs from "./logs";
import onCall from "./onCall";
import overview from "./overview";
import retention from "./retention";
import rolling from "./rolling";
import secrets from "./secrets";
import sources from "./sources";
import states from "./states";
import tasks from "./tasks";
import tenants from "./tenants";
import triage from "./triage";
import workers from "./workers";

export default {
  alertSettings,
  alerts,
  audit,
  backfills,
  calendars,
  capacity,
  deadLetters,
  drills,
  events,
  forecast,
  frame,
  graphs,
  health,
  incidents,
  instances,
  jobs,
  limits,
  lists,
  login,
  logs,
  onCall,
  overview,
  retention,
  rolling,
  secrets,
  sources,
  states,
  tasks,
  tenants,
  triage,
  workers,
  errors,
};
